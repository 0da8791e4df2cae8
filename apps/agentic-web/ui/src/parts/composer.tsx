// The message box. Enter sends, Shift+Enter begins a new line.
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { type CommandName, commandOf, commandsFor } from './slash-commands.ts'
import { count } from './words.ts'

const LONGEST = 100_000

interface ComposerProps {
  canStop: boolean
  isStopping: boolean
  /** Resolves to false if the text was not taken; then it stays. */
  onSend: (text: string) => Promise<boolean>
  onCommand: (command: CommandName | 'unknown') => void
  onStop: () => void
}

export function Composer({ canStop, isStopping, onSend, onCommand, onStop }: ComposerProps) {
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => fit(box.current, text), [text])
  useEffect(() => {
    // On a touch screen the keyboard would cover half of the page.
    if (matchMedia('(hover: hover)').matches) box.current?.focus()
  }, [])

  const submit = async (written = text) => {
    const command = commandOf(written)
    if (command) {
      setText('')
      return onCommand(command)
    }
    if (written.trim() === '' || isSending || written.length > LONGEST) return
    setSending(true)
    setText('')
    const wasTaken = await onSend(written)
    setSending(false)
    if (!wasTaken) setText((newer) => newer || written)
    box.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void submit()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <CommandHints text={text} onPick={(name) => void submit(name)} />
      <textarea
        ref={box}
        id="message"
        rows={1}
        value={text}
        aria-label="Message"
        aria-describedby="message-hint"
        placeholder="Write a message, or / for commands"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-row">
        <span className={text.length > LONGEST ? 'hint bad' : 'hint'} id="message-hint">
          {text.length > LONGEST
            ? `${text.length} characters; at most ${LONGEST}`
            : text
              ? count(text.length, 'character')
              : 'Enter sends, Shift+Enter begins a line'}
        </span>
        {canStop && (
          <button type="button" className="button stop" disabled={isStopping} onClick={onStop}>
            {isStopping ? 'Stopping…' : 'Stop'}
          </button>
        )}
        {(!canStop || text.trim() !== '') && (
          <button type="submit" className="button" disabled={text.trim() === '' || isSending || text.length > LONGEST}>
            {isSending ? 'Sending…' : 'Send'}
          </button>
        )}
      </div>
    </form>
  )
}

function CommandHints({ text, onPick }: { text: string; onPick: (name: CommandName) => void }) {
  const commands = commandsFor(text)
  if (commands.length === 0) return null
  return (
    <ul className="commands" aria-label="Commands">
      {commands.map(({ name, what }) => (
        <li key={name}>
          <button type="button" onClick={() => onPick(name)}>
            <code>{name}</code> {what}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** As high as its text, within what the style allows. */
function fit(box: HTMLTextAreaElement | null, text: string): void {
  if (!box) return
  box.style.height = 'auto'
  if (text !== '') box.style.height = `${box.scrollHeight + 2}px`
}
