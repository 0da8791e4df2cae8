/** What one session may keep. */
export const WORKSPACE_BYTES_MAX = 16 * 1024 * 1024
export const WORKSPACE_FILES_MAX = 500

/** Of one call of a tool: its recorded output carries the changed files. */
export const CHANGES_BYTES_MAX = 4 * 1024 * 1024
export const PATH_LENGTH_MAX = 512

/** What a tool may say; far more than a model gets to read. */
export const OUTPUT_BYTES_MAX = 8 * 1024 * 1024
