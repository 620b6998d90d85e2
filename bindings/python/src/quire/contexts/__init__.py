"""Stores, contexts and queries; how handlers are told."""
