"""Interactive, gradable machine-learning-systems labs for Jupyter.

Importing the package loads nothing else: every public name arrives on first use, so that the
physics core never pays for the widget libraries.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_ROOMS = ("grading", "labs", "ledger", "measured", "physics")
#: Widgets, with the module of ``mlsys_widgets.widgets`` that holds each.
_WIDGETS = {
    "BreakEvenTimeline": "break_even",
    "ClassReport": "class_report",
    "CompilationSpectrum": "compilation_spectrum",
    "ConceptMap": "concept_map",
    "ConfidenceQuiz": "quiz",
    "ContextToggle": "story",
    "DesignEntry": "design",
    "DispatchWaterfall": "dispatch",
    "FusionDecision": "fusion_decision",
    "FusionExplorer": "fusion",
    "IronLaw": "iron_law",
    "KeyTakeaways": "story",
    "LabHUD": "hud",
    "MagnitudeLandscape": "landscape",
    "MathPeek": "math_panels",
    "MemoryBudget": "memory_budget",
    "MemoryHierarchy": "memory_hierarchy",
    "Myth": "myths",
    "MythBuster": "myths",
    "PhysicsPanel": "math_panels",
    "PredictionLock": "prediction",
    "Question": "questions",
    "Reflection": "reflection",
    "RooflineWidget": "roofline",
    "Scenario": "story",
    "SelfAssessment": "assessment",
}
#: What opens a lab, likewise.
_OPENERS = {"open_lab": "session"}

__all__ = [
    "BreakEvenTimeline",
    "ClassReport",
    "CompilationSpectrum",
    "ConceptMap",
    "ConfidenceQuiz",
    "ContextToggle",
    "DesignEntry",
    "DispatchWaterfall",
    "FusionDecision",
    "FusionExplorer",
    "IronLaw",
    "KeyTakeaways",
    "LabHUD",
    "MagnitudeLandscape",
    "MathPeek",
    "MemoryBudget",
    "MemoryHierarchy",
    "Myth",
    "MythBuster",
    "PhysicsPanel",
    "PredictionLock",
    "Question",
    "Reflection",
    "RooflineWidget",
    "Scenario",
    "SelfAssessment",
    "__version__",
    "grading",
    "labs",
    "ledger",
    "measured",
    "open_lab",
    "physics",
]

if TYPE_CHECKING:
    from mlsys_widgets import grading, labs, ledger, measured, physics
    from mlsys_widgets.widgets.assessment import SelfAssessment
    from mlsys_widgets.widgets.break_even import BreakEvenTimeline
    from mlsys_widgets.widgets.class_report import ClassReport
    from mlsys_widgets.widgets.compilation_spectrum import CompilationSpectrum
    from mlsys_widgets.widgets.concept_map import ConceptMap
    from mlsys_widgets.widgets.design import DesignEntry
    from mlsys_widgets.widgets.dispatch import DispatchWaterfall
    from mlsys_widgets.widgets.fusion import FusionExplorer
    from mlsys_widgets.widgets.fusion_decision import FusionDecision
    from mlsys_widgets.widgets.hud import LabHUD
    from mlsys_widgets.widgets.iron_law import IronLaw
    from mlsys_widgets.widgets.landscape import MagnitudeLandscape
    from mlsys_widgets.widgets.math_panels import MathPeek, PhysicsPanel
    from mlsys_widgets.widgets.memory_budget import MemoryBudget
    from mlsys_widgets.widgets.memory_hierarchy import MemoryHierarchy
    from mlsys_widgets.widgets.myths import Myth, MythBuster
    from mlsys_widgets.widgets.prediction import PredictionLock
    from mlsys_widgets.widgets.questions import Question
    from mlsys_widgets.widgets.quiz import ConfidenceQuiz
    from mlsys_widgets.widgets.reflection import Reflection
    from mlsys_widgets.widgets.roofline import RooflineWidget
    from mlsys_widgets.widgets.session import open_lab
    from mlsys_widgets.widgets.story import ContextToggle, KeyTakeaways, Scenario


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value: Any = import_module(f"mlsys_widgets.{name}")
    elif module := _WIDGETS.get(name) or _OPENERS.get(name):
        value = getattr(import_module(f"mlsys_widgets.widgets.{module}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
