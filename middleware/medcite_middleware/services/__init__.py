"""Services: what the doors of medcite call. `build_services` puts them together."""

from medcite_middleware.services.build import Services, build_services, build_verifier

__all__ = ["Services", "build_services", "build_verifier"]
