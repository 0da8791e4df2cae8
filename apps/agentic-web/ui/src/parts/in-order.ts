import { createElement, Fragment, type ReactNode } from 'react'

/** Children that are known by their place: what is shown only grows at its end. */
export function inOrder<T>(items: readonly T[], show: (item: T, place: number) => ReactNode): ReactNode {
  return createElement(Fragment, null, ...items.map(show))
}
