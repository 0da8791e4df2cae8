/** A setting with which this process must not start. Whoever starts it gets the message as one line. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart'
}
