from os import PathLike
from typing import Any, Dict, KeysView, List, Optional, Union

from ._headwater import Error as Error, InputError as InputError, MachineError as MachineError
from ._headwater import River as River, Table as Table, __version__ as __version__, methods as methods

class Readings:
    table: Table
    river: River
    counts: Dict[str, int]
    origin: Optional[float]
    notes: List[str]
    def __init__(
        self, table: Table, river: River, counts: Dict[str, int], origin: Optional[float], notes: List[str]
    ) -> None: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = ...) -> Any: ...
    def frame(self) -> Any: ...

def read(
    path: Union[str, bytes, "PathLike[Any]"], river: River, columns: Optional[str] = ..., timezone: Optional[str] = ...
) -> Readings: ...

class Estimate:
    river: str
    method: str
    seed: int
    readings: int
    provisional: bool
    trust: Optional[str]
    trust_reason: Optional[str]
    spill: Optional[float]
    estimate: Optional[Dict[str, Any]]
    interval: Optional[Dict[str, Any]]
    candidates: List[Dict[str, Any]]
    arrivals: List[Dict[str, Any]]
    region: List[Dict[str, Any]]
    warnings: List[str]
    def __init__(self, text: str, words: str) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, key: str) -> Any: ...
    def __contains__(self, key: object) -> bool: ...
    def keys(self) -> KeysView[str]: ...
    def to_dict(self) -> Dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Run:
    river: River
    def __init__(
        self,
        river: River,
        method: str = ...,
        *,
        seed: int = ...,
        level: float = ...,
        particles: int = ...,
        threads: int = ...,
        origin: Optional[float] = ...
    ) -> None: ...
    @property
    def readings(self) -> int: ...
    @property
    def origin(self) -> Optional[float]: ...
    def observe(
        self,
        readings: Any = ...,
        sensor: Any = ...,
        concentration_g_m3: Any = ...,
        below_limit: Any = ...,
        above_limit: Any = ...,
    ) -> int: ...
    def estimate(self) -> Estimate: ...
    def samples(self, most: int = ...) -> Any: ...
    def predict(self, location_m: float, time_s: Any) -> Any: ...
    def plot(self, axes: Any = ...) -> Any: ...

def identify(
    river: River,
    readings: Any,
    method: str = ...,
    *,
    seed: int = ...,
    level: float = ...,
    particles: int = ...,
    threads: int = ...,
    origin: Optional[float] = ...
) -> Estimate: ...
