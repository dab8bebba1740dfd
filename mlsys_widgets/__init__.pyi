# The public names and the module that holds each: type checkers read this file, and so does
# the package itself when a name is first used.
from . import classes as classes
from . import grading as grading
from . import labs as labs
from . import ledger as ledger
from . import measured as measured
from . import physics as physics
from .cards.confidence_quiz import ConfidenceQuiz as ConfidenceQuiz
from .cards.design_entry import DesignEntry as DesignEntry
from .cards.lab_hud import LabHUD as LabHUD
from .cards.math_peek import MathPeek as MathPeek
from .cards.moves import Move as Move
from .cards.myth_buster import MythBuster as MythBuster
from .cards.open_lab import open_lab as open_lab
from .cards.prediction_lock import PredictionLock as PredictionLock
from .cards.reflection import Reflection as Reflection
from .cards.self_assessment import SelfAssessment as SelfAssessment
from .cards.story import ContextToggle as ContextToggle
from .cards.story import KeyTakeaways as KeyTakeaways
from .cards.story import Scenario as Scenario
from .classes.class_report import ClassReport as ClassReport
from .instruments.break_even_timeline import BreakEvenTimeline as BreakEvenTimeline
from .instruments.compilation_spectrum import CompilationSpectrum as CompilationSpectrum
from .instruments.concept_map import ConceptMap as ConceptMap
from .instruments.dispatch_waterfall import DispatchWaterfall as DispatchWaterfall
from .instruments.energy_explorer import EnergyExplorer as EnergyExplorer
from .instruments.fusion_decision import FusionDecision as FusionDecision
from .instruments.fusion_explorer import FusionExplorer as FusionExplorer
from .instruments.instrument import Instrument as Instrument
from .instruments.iron_law_widget import IronLaw as IronLaw
from .instruments.link import link as link
from .instruments.magnitude_landscape import MagnitudeLandscape as MagnitudeLandscape
from .instruments.memory_budget import MemoryBudget as MemoryBudget
from .instruments.memory_hierarchy_widget import MemoryHierarchy as MemoryHierarchy
from .instruments.moving_picture import MovingPicture as MovingPicture
from .instruments.paged_cache import PagedCache as PagedCache
from .instruments.physics_panel import PhysicsPanel as PhysicsPanel
from .instruments.quantization_explorer import QuantizationExplorer as QuantizationExplorer
from .instruments.queue_explorer import QueueExplorer as QueueExplorer
from .instruments.roofline_widget import RooflineWidget as RooflineWidget
from .instruments.serving_explorer import ServingExplorer as ServingExplorer
from .instruments.target import Target as Target
from .labs.quiz import Myth as Myth
from .labs.quiz import Question as Question

__version__: str
