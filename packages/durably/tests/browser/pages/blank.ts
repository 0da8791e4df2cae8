// A page without a program: tests bring their own.
export {}
