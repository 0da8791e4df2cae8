/** A dialect that can say where its database is, for people: without names and passwords of users. */
export interface PlacedDialect {
  readonly place: string
}
