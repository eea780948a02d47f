# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of other tools about real traces, each beside ours."""
