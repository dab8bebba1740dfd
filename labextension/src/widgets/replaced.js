// A kernel that another window has restarted. Jupyter tells only the window that asked for it; in the
// others everything would look alive and do nothing.

// Call back when a kernel says farewell before a restart, or says that it has just begun.
export function whenReplaced(kernel, then) {
  kernel?.iopubMessage?.connect((_, { header, content }) => {
    if (header.msg_type === "shutdown_reply" && content.restart) then();
  });
  // One that had to be killed says no farewell.
  kernel?.statusChanged?.connect((_, status) => { if (status === "starting") then(); });
}
