import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Gate } from './gate.tsx'
import './style/base.css'
import './style/layout.css'
import './style/messages.css'
import './style/dialogs.css'

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <Gate />
    </StrictMode>,
  )
