# SPDX-License-Identifier: GPL-3.0-or-later
# Documents name only what exists, and what exists is documented.

ta_add_test(lint.results lint
    "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/results.py"
    --program "$<TARGET_FILE:traceanalyze_cli>")

ta_add_test(lint.docs lint
    "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/lint/docs.py"
    --root "${PROJECT_SOURCE_DIR}"
    --compiler "${CMAKE_C_COMPILER}" --program "$<TARGET_FILE:traceanalyze_cli>"
    --input "${PROJECT_SOURCE_DIR}/samples/video-4ranks")
