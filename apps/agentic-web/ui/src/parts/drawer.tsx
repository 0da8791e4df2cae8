// On a narrow page the dock comes from the side, over the chat.
import { type ReactNode, useEffect, useRef } from 'react'

export function Drawer({ isOpen, onClose, children }: { isOpen: boolean; onClose: () => void; children: ReactNode }) {
  const dock = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isOpen) return
    dock.current?.querySelector('input')?.focus()
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && onClose()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOpen, onClose])
  return (
    <>
      <nav ref={dock} className="dock" aria-label="Session dock">
        {children}
      </nav>
      {isOpen && <button type="button" className="overlay" aria-label="Close sessions" onClick={onClose} />}
    </>
  )
}
