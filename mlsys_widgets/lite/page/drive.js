// Gives the drive of a kernel a way of its own to the page.
//
// The way that JupyterLite has waits for ever when the page cannot store something, mixes up the
// answers of two kernels of one page, and stores a file again that was only read: it then counts as
// changed by somebody else, or overwrites what another tab has written.
//
// Called in the kernel's worker with Pyodide's file system and the name of the page.
(FS, page) => {
  const { type: drive } = FS.lookupPath('/drive').node.mount;
  const { API: api, ERRNO_CODES: codes, stream_ops: streams } = drive;
  const kernel = crypto.randomUUID();
  const encoder = new TextEncoder();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Milliseconds until a question is asked again, which the page does not do twice; and how often.
  const PATIENCE = 10000;
  const TRIES = 12;
  let count = 0;

  const refuse = name => {
    throw new FS.ErrnoError(codes[name] ?? codes.EIO);
  };
  // Sends a question once; undefined when it or its answer was lost on the way.
  const sent = question => {
    const request = new XMLHttpRequest();
    request.open('POST', encodeURI(api.endpoint), false);
    request.timeout = PATIENCE;
    try {
      request.send(question);
    } catch (error) {
      return undefined;
    }
    return request.status === 200 ? request.responseText : undefined;
  };
  api.request = data => {
    count += 1;
    const question = JSON.stringify({ data, browsingContextId: `${page}#${kernel}.${count}` });
    // A service worker that is replaced or ended takes along what it was about to answer.
    for (let tries = 0; tries < TRIES; tries++) {
      const text = sent(question);
      if (text !== undefined) {
        const reply = JSON.parse(text);
        return reply.refused ? refuse(reply.refused) : reply.done;
      }
    }
    return refuse('EIO');
  };
  api.put = (path, { data }) => {
    let sent;
    try {
      sent = { format: 'text', data: decoder.decode(data) };
    } catch (error) {
      const parts = [];
      for (let at = 0; at < data.length; at += 32768) {
        parts.push(String.fromCharCode(...data.subarray(at, at + 32768)));
      }
      sent = { format: 'base64', data: btoa(parts.join('')) };
    }
    return api.request({ method: 'put', path: api.normalizePath(path), data: sent });
  };
  const store = streams.close.bind(streams);
  streams.close = stream => {
    const readsOnly = (stream.flags & 3) === 0;
    if (readsOnly) {
      stream.file = undefined;
    } else {
      store(stream);
    }
  };
  return api._baseUrl;
}
