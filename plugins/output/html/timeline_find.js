/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices of the timeline by name, how long they are together, and the one to look at first. */

/* Marks the slices of all lanes whose names hold the words, and what they launched; returns what
 * they are together. */
function findSlices({ files, labels }, wanted) {
  const hits = labels.map((label) => holdsAll(`${label.name} ${label.brief}`.toLowerCase(), wanted));
  const found = { lanes: [], n: 0, device: 0, host: 0, launched: 0 };
  for (const track of files.flatMap((file) => file.tracks)) {
    for (const lane of track.lanes) {
      lane.found = [];
      lane.launched = [];
      for (let i = 0; wanted.length && i < lane.n; i++) {
        if (hits[lane.labels[i]]) {
          lane.found.push(i);
          found[isDevice(track) ? "device" : "host"] += lane.ends[i] - lane.starts[i];
        }
      }
      found.n += lane.found.length;
      found.lanes.push(...lane.found.length ? [lane] : []);
    }
  }
  if (found.host) {
    files.forEach((file) => { found.launched += markLaunched(file); });
  }
  return found;
}

/* Marks the work of devices that found calls of a file launched; returns how long it is. */
function markLaunched(file) {
  const isFound = (lane, time) => {
    const next = firstOf(lane.found.length, (k) => lane.starts[lane.found[k]] > time);
    return next > 0 && lane.ends[lane.found[next - 1]] > time;
  };
  let time = 0;
  for (const lane of file.tracks.filter(isDevice).flatMap((track) => track.busy)) {
    for (let i = 0; lane.calls && i < lane.n; i++) {
      const caller = file.byNumber[lane.calls[i]];
      if (caller && caller.lanes.some((one) =>
        one.found.length && isFound(one, lane.starts[i] - lane.delays[i]))) {
        lane.launched.push(i);
        time += lane.ends[i] - lane.starts[i];
      }
    }
  }
  return time;
}

/* "152 found · 11.96 ms host · 205 ms GPU": calls of the host with what they launched. */
function foundText({ n, device, host, launched }) {
  const parts = [[host, "host"], [device || launched, "GPU"]].filter(([time]) => time)
    .map(([time, where]) => `${timeText(time)} ${where}`);
  return [`${grouped(n)} found`, ...parts].join(" · ");
}

/* The slice that stands for all found on some ranks: half of their time is in shorter ones.  Work of
 * a device comes first, then what found calls launched, then the calls. */
function typicalFound(files) {
  const tracks = files.flatMap((file) => file.tracks);
  const choices = [[true, "found"], [true, "launched"], [false, "found"]];
  const all = choices.map(([onDevice, marked]) => tracks
    .filter((track) => isDevice(track) === onDevice).flatMap((track) => track.lanes)
    .flatMap((lane) => lane[marked].map((i) => [lane, i, lane.ends[i] - lane.starts[i]])))
    .find((some) => some.length) || [];
  all.sort((a, b) => a[2] - b[2]);
  const time = all.reduce((sum, one) => sum + one[2], 0);
  let sum = 0;
  const typical = all.find((one) => (sum += one[2]) * 2 >= time);
  return typical ? sliceOf(typical[0], typical[1]) : null;
}
