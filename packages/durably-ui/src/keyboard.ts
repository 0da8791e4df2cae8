// The keys of the dashboard. Keys that are typed into a field, into another part of the page or together with Ctrl are not for it.

export interface KeyActions {
  search(): void
  trigger(): void
  help(): void
  back(): void
}

/** True if the key meant something. */
export function pressKey(event: KeyboardEvent, host: HTMLElement, actions: KeyActions): boolean {
  const root = host.shadowRoot
  if (!root || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isElsewhere(host)) return false
  if (root.querySelector('dialog[open]')) return false
  const focused = root.activeElement
  if (isField(focused)) {
    if (event.key === 'Escape') (focused as HTMLElement).blur()
    return event.key === 'Escape'
  }
  switch (event.key) {
    case 'j':
      return moveFocus(root, 1)
    case 'k':
      return moveFocus(root, -1)
    case 'n':
    case 'p':
      return click(root, `[data-key=${event.key}]:enabled`)
    case '/':
      actions.search()
      return true
    case 't':
      actions.trigger()
      return true
    case '?':
      actions.help()
      return true
    case 'Escape':
      if (closeMenu(root)) return true
      actions.back()
      return true
    default:
      return false
  }
}

/** A page may have more than the dashboard. */
function isElsewhere(host: HTMLElement): boolean {
  const { activeElement } = document
  return activeElement !== null && activeElement !== document.body && activeElement !== host
}

function isField(element: Element | null): boolean {
  return element !== null && /^(?:input|textarea|select)$/i.test(element.tagName)
}

function moveFocus(root: ShadowRoot, by: number): boolean {
  const rows = Array.from(root.querySelectorAll<HTMLElement>('.row'))
  const at = rows.indexOf(root.activeElement as HTMLElement)
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  return next !== undefined
}

function closeMenu(root: ShadowRoot): boolean {
  const menu = root.querySelector('.menu[open]')
  menu?.removeAttribute('open')
  return menu !== null
}

function click(root: ShadowRoot, selector: string): boolean {
  const button = root.querySelector<HTMLElement>(selector)
  button?.click()
  return button !== null
}
