"""Where data lives on a GPU, how much fits there, and what it costs to fetch it.

Every level has an owner, and its capacity is what one owner has: a thread has at most 255
registers, a thread block its part of a multiprocessor's shared memory, and the whole GPU has one L2
cache and one HBM. In these terms each level is larger than the one before, so data that outgrow one
level move on to the next.

Summed over a chip the two nearest levels come out the other way round: an A100 has 27.6 MB of
registers and 20.7 MB of shared memory and L1. No tensor can live in that sum as a whole, because a
thread cannot read another thread's registers, nor a block another block's shared memory; a kernel
uses it in pieces, each in the hands of its owner. The sum is on record as ``chip_capacity``.
Bandwidths are those of the whole chip, with every owner at work.

Examples
--------
How much does each level of an A100 hold, and how fast is it?

>>> from mlsys_widgets import physics as ph
>>> for level in ph.memory_hierarchy.values():
...     size, rate = level.capacity, level.bandwidth
...     print(level.key, ph.format_quantity(size, "B"), ph.format_quantity(rate, "B/s"))
registers 1.02 KB 117 TB/s
sram 163 KB 19 TB/s
l2 40 MB 6 TB/s
hbm 80 GB 2 TB/s
host 1 TB 32 GB/s
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mlsys_widgets.physics.devices import devices
from mlsys_widgets.physics.domain import POSITIVE, Numeric
from mlsys_widgets.physics.provenance import CatalogEntry, Fact, Source, catalog_entry, number
from mlsys_widgets.physics.result import Result, derived, given
from mlsys_widgets.wording.choices import Catalog


@dataclass(frozen=True, kw_only=True)
class MemoryLevel(CatalogEntry):
    """One level of the hierarchy.

    ``memory_hierarchy`` holds those of an A100, ``nearest_level`` finds the one that data fit in.

    Examples
    --------
    Why can a thread block not keep 1 MB in shared memory, of which the chip has 20 MB?

    >>> from mlsys_widgets import physics as ph
    >>> sram = ph.memory_hierarchy["sram"]
    >>> ph.format_quantity(sram.chip_capacity, "B"), ph.format_quantity(sram.capacity, "B")
    ('20.7 MB', '163 KB')
    >>> sram.scope, sram.provenance["capacity"].note
    ('one thread block', 'shared memory of a thread block; 192 KB with L1 in a multiprocessor')
    """

    bandwidth: float = number("B/s")  #: Of the whole chip, with every owner at work (B/s).
    capacity: float = number("B")  #: What one owner can hold (B).
    chip_capacity: float = number("B")  #: What all owners hold together (B).
    scope: str  #: Who the owner is: one thread, one thread block, the whole GPU.


@dataclass(frozen=True, repr=False)
class Transfer(Result):
    """Data moved through one level.

    ``transfer`` builds one.
    """

    size: Numeric = given("Q", "B", "data moved", POSITIVE)
    bandwidth: Numeric = given("B", "B/s", "bandwidth of the level", POSITIVE)

    @derived("t", "s")
    def time(self) -> Numeric:
        """Time to move the data."""
        return self.size / self.bandwidth


_DAY_14: Final = Source("ML systems course, day 14", "2026-03", "course")
_COUNTED: Final = Source("lanes and clock of the A100 whitepaper", "2020-05", "estimate")
_WHITEPAPER: Final = Source("NVIDIA A100 architecture whitepaper", "2020-05", "datasheet")
_CUDA: Final = Source("CUDA C++ programming guide, compute capability 8.0", "2024-03", "datasheet")
_PCIE: Final = Source("PCI Express 4.0, 16 lanes, one direction", "2017-10", "datasheet")
_SERVER: Final = Source("a common server", "2026-11", "estimate")
_A100: Final = devices["a100-sxm"]

#: The levels of an A100, from the one nearest to the arithmetic outward.
memory_hierarchy: Final[Catalog[MemoryLevel]] = Catalog(
    "memory level",
    catalog_entry(
        MemoryLevel,
        "registers",
        "Registers",
        bandwidth=_COUNTED.fact(
            117e12,
            "3 operands of 4 bytes for each of 108 × 64 lanes, at 1.41 GHz; the course says"
            " 20 TB/s, hardly more than shared memory",
        ),
        capacity=_CUDA.fact(255 * 4.0, "255 registers of 4 bytes in each thread"),
        chip_capacity=_WHITEPAPER.fact(108 * 256e3, "256 KB in each of 108 multiprocessors"),
        scope="one thread",
    ),
    catalog_entry(
        MemoryLevel,
        "sram",
        "Shared memory and L1",
        bandwidth=_DAY_14.fact(19e12, "about"),
        capacity=_CUDA.fact(
            163e3, "shared memory of a thread block; 192 KB with L1 in a multiprocessor"
        ),
        chip_capacity=_WHITEPAPER.fact(108 * 192e3, "192 KB in each of 108 multiprocessors"),
        scope="one thread block",
    ),
    catalog_entry(
        MemoryLevel,
        "l2",
        "L2 cache",
        bandwidth=_DAY_14.fact(6e12, "about"),
        capacity=_WHITEPAPER.fact(40e6),
        chip_capacity=_WHITEPAPER.fact(40e6),
        scope="whole GPU",
    ),
    catalog_entry(
        MemoryLevel,
        "hbm",
        "HBM",
        bandwidth=Fact(_A100.bandwidth, _A100.provenance["bandwidth"]),
        capacity=Fact(_A100.memory, _A100.provenance["memory"]),
        chip_capacity=Fact(_A100.memory, _A100.provenance["memory"]),
        scope="whole GPU",
    ),
    catalog_entry(
        MemoryLevel,
        "host",
        "Host memory over PCIe",
        bandwidth=_PCIE.fact(32e9, "31.5 GB/s, rounded"),
        capacity=_SERVER.fact(1e12),
        chip_capacity=_SERVER.fact(1e12),
        scope="whole machine",
    ),
)


def transfer(size: Numeric, level: MemoryLevel | str) -> Transfer:
    """The time to move data through a level of the hierarchy.

    ``size`` is in bytes, and ``level`` an entry of ``memory_hierarchy``, or its key.

    Examples
    --------
    How long does it take to swap in the weights of Llama-3.1-8B from the host?

    >>> from mlsys_widgets import physics as ph
    >>> swap = ph.transfer(16e9, "host")
    >>> ph.format_quantity(swap.time, "s")
    '500 ms'
    >>> print(swap.derivation())
    t = Q / B = 16 GB / 32 GB/s = 500 ms   (time to move the data)
    """
    chosen = memory_hierarchy[level] if isinstance(level, str) else level
    return Transfer(size=size, bandwidth=chosen.bandwidth)


def nearest_level(size: float) -> MemoryLevel | None:
    """The fastest level that holds something of this size, or ``None``.

    The size, in bytes, is what one owner wants to hold.

    Examples
    --------
    >>> [nearest_level(size).key for size in (1e3, 100e3, 30e6, 1e9, 1e12)]
    ['registers', 'sram', 'l2', 'hbm', 'host']
    >>> nearest_level(1e15) is None
    True
    """
    wanted = POSITIVE.check("size", size)
    fitting = (level for level in memory_hierarchy.values() if wanted <= level.capacity)
    return next(fitting, None)
