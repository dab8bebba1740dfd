"""What a lab asks and shows around its instruments: predictions, questions, the open lab."""
