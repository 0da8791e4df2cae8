/** Which of the steps, or of the log lines, of a run are read. */
export interface RowPage {
  /** The id of the row after which the page begins. Default: it begins at the first row. */
  after?: string
  /** How many rows are read at most. Default: all. */
  limit?: number
}
