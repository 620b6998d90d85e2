"""Names of higher rooms, for annotations in lower ones. No module imports this one when it runs."""

from .contexts.context import Context as Context
from .contexts.merging import ObjectConflict as ObjectConflict
from .contexts.query import Query as Query
from .models._entity import Entity as Entity
from .models.model import Model as Model
from .models.properties import ToMany as ToMany
