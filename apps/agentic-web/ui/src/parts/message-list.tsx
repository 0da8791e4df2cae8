// The turns, with the newest in view unless the reader has scrolled up.
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ShownTurn } from '../state/shown-turn.ts'
import { Icon } from './icon.tsx'
import { type TurnActions, TurnView } from './turn-view.tsx'

const NEAR_PX = 80

interface MessageListProps extends TurnActions {
  turns: readonly ShownTurn[]
  activeId: string | undefined
}

export function MessageList({ turns, activeId, ...actions }: MessageListProps) {
  const view = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const follows = useRef(true)
  const size = useRef('')
  const [isAtEnd, setAtEnd] = useState(true)
  const toEnd = useCallback(() => view.current?.scrollTo({ top: view.current.scrollHeight }), [])
  // By its size, because text is drawn a little later than it arrives.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      size.current = sizeOf(view.current)
      if (follows.current) toEnd()
    })
    for (const element of [list.current, view.current]) if (element) observer.observe(element)
    return () => observer.disconnect()
  }, [toEnd])
  const onScroll = () => {
    // A change of size moves what is in view as well: that was not the reader.
    if (!view.current || sizeOf(view.current) !== size.current) return
    const { scrollTop, scrollHeight, clientHeight } = view.current
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_PX
    setAtEnd(follows.current)
  }
  return (
    <div className="messages-frame">
      <div
        ref={view}
        className="messages"
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        role="log"
        aria-label="Messages"
        aria-busy={activeId !== undefined}
      >
        <ol ref={list}>
          {turns.map((turn) => (
            <TurnView key={turn.runId} turn={turn} isFirstActive={turn.runId === activeId} {...actions} />
          ))}
        </ol>
      </div>
      {!isAtEnd && (
        <button type="button" className="button to-end" onClick={toEnd}>
          <Icon name="down" /> Latest
        </button>
      )}
    </div>
  )
}

function sizeOf(view: HTMLElement | null): string {
  return `${view?.scrollHeight} ${view?.clientHeight}`
}
