// The buttons of `durably dev`, on whichever page it serves. Runs in the browser.

interface State {
  pid: number | null
  isPaused: boolean
  isSlow: boolean
  offsetMs: number
  failures: { file: string; message: string }[]
}

const LOOK_MS = 1000

class DurablyDevControls extends HTMLElement {
  readonly #status = document.createElement('span')
  readonly #failures = document.createElement('pre')
  readonly #kill = button('Kill the worker', () => this.#do('kill'))
  readonly #pause = button('Pause', () => this.#do('pause'))
  readonly #advance = button('+1 hour', () => this.#do('advance'))
  readonly #slow = button('Slow database', () => this.#do('slow'))

  connectedCallback(): void {
    this.setAttribute('role', 'toolbar')
    this.setAttribute('aria-label', 'durably dev')
    this.#status.setAttribute('role', 'status')
    this.#failures.hidden = true
    this.append(this.#failures, this.#kill, this.#pause, this.#advance, this.#slow, this.#status)
    void this.#look()
    setInterval(() => void this.#look(), LOOK_MS)
  }

  async #do(control: string): Promise<void> {
    await this.#ask(`/dev/${control}`, { method: 'POST' })
  }

  async #look(): Promise<void> {
    if (document.visibilityState === 'visible') await this.#ask('/dev/state')
  }

  async #ask(path: string, init?: RequestInit): Promise<void> {
    try {
      const response = await fetch(path, init)
      const answer = (await response.json()) as State & { error?: string }
      if (answer.error === undefined) this.#show(answer)
      else this.#status.textContent = answer.error
    } catch {
      this.#status.textContent = 'durably dev does not answer'
    }
  }

  #show({ pid, isPaused, isSlow, offsetMs, failures }: State): void {
    this.#pause.setAttribute('aria-pressed', String(isPaused))
    this.#slow.setAttribute('aria-pressed', String(isSlow))
    this.#kill.disabled = pid === null
    const clock = offsetMs === 0 ? '' : ` · clock +${Math.round(offsetMs / 36_000) / 100} h`
    this.#status.textContent = `${pid === null ? 'a worker starts …' : `worker ${pid}`}${isPaused ? ' · paused' : ''}${clock}`
    // The dashboard says “2 s ago” by the clock of the runs.
    Object.assign(document.querySelector('durably-dashboard') ?? {}, { clockOffset: offsetMs })
    this.#failures.hidden = failures.length === 0
    this.#failures.textContent = failures
      .map(({ file, message }) => (message.includes(file) ? message : `${file}\n${message}`))
      .join('\n\n')
  }
}

function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.addEventListener('click', onClick)
  return made
}

customElements.define('durably-dev-controls', DurablyDevControls)
document.body.append(document.createElement('durably-dev-controls'))
