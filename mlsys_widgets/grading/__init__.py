"""Grading submissions: what hidden tests call, and everything behind ``mlsys grade``."""

from __future__ import annotations

from mlsys_widgets.grading.judging.award import award, award_record

__all__ = ["award", "award_record"]
