"""Cards around the instruments of a lab: predictions, questions, the open lab.

A card shows one item of a lab, keeps what the student does with it in the ledger, and tells the
cards that wait for it. Start with `open_lab`, the one object that a lab's notebook uses, and with
`card`, the base of all cards; `prediction_lock`, `question_card`, `reflection` and `reveal` are the
ones that most labs are made of, and `lab_hud` shows how far a student has come.
"""
