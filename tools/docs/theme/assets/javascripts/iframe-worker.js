// Lets the search work in pages that are opened from a folder (file://), for which browsers start no workers. The theme looks for a class
// of this name. It runs the script of the search in a hidden frame, and passes messages between the page and the frame.
"use strict";

class IFrameWorker extends EventTarget {
  constructor(script) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
    // Scripts run one after the other, as the search expects.
    inside.importScripts = (...scripts) => scripts.reduce((done, next) => done.then(() => this.load(next)), Promise.resolve());
    this.ready = this.load(new URL(script, location.href).href);
  }

  load(script) {
    const { document } = this.frame.contentWindow;
    return new Promise((resolve, reject) => {
      const tag = document.createElement("script");
      tag.src = script;
      tag.onload = resolve;
      tag.onerror = () => reject(new Error(`cannot load ${script}`));
      document.body.append(tag);
    });
  }

  postMessage(data) {
    this.ready.then(() => {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data: structuredClone(data) }));
    });
  }

  terminate() {
    this.frame.remove();
  }
}

window.IFrameWorker = IFrameWorker;
if (location.protocol === "file:") window.Worker = IFrameWorker;
