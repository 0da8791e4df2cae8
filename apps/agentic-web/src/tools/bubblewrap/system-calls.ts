// System calls that no tool needs, with their numbers on x86-64 and on arm64 (null: it has none of this name).

type Numbers = readonly [x64: number, arm64: number | null]

/** Whoever asks for one of these wants out: its process ends with SIGSYS. */
export const KILLED: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  move_mount: [429, 429],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  fanotify_init: [300, 262],
  memfd_secret: [447, 447],
  iopl: [172, null],
  ioperm: [173, null],
}

/** Ordinary programs try these and do without: they fail. Sockets, and memory that belongs to no process. */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  socket: [41, 198],
  memfd_create: [319, 279],
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
}

/** Its flags are behind a pointer, which a filter cannot read. Where it does not exist, programs use `clone`. */
export const CLONE3: Numbers = [435, 435]
export const CLONE: Numbers = [56, 220]
export const IOCTL: Numbers = [16, 29]
