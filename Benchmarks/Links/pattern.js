// The test pattern of SoraCapture as a camera of this page, with its stamps: a pure function of the frame's index, in Y, U and V.
([width, height, rate]) => {
  const period = height >> 1;
  const wave = (period, count, low, high) => Uint8Array.from({ length: count }, (_, position) => {
    const phase = position % period, half = period >> 1, rising = phase < half;
    const along = rising ? phase / half : (phase - half) / (period - half);
    const bow = 4 * along * (1 - along);
    return low + (rising ? 0.5 + bow / 2 : 0.5 - bow / 2) * (high - low);
  });
  const luma = wave(period, width + period, 50, 200);
  const chroma = [wave(height, width / 2 + height, 96, 160), wave(height, width / 2 + height, 104, 152)];
  const checksum = (value) => {
    let crc = 0;
    for (let shift = 24; shift >= 0; shift -= 8) {
      crc ^= (value >>> shift) & 255;
      for (let bit = 0; bit < 8; bit++) crc = crc & 128 ? ((crc << 1) ^ 7) & 255 : crc << 1;
    }
    return crc;
  };
  const edge = Math.floor(width / 40);
  const stamp = (data, row, value) => {
    const code = [...value.toString(2).padStart(32, "0"), ...checksum(value).toString(2).padStart(8, "0")];
    for (let y = row * edge; y < (row + 1) * edge; y++) {
      code.forEach((bit, block) => data.fill(bit === "1" ? 235 : 16, y * width + block * edge, y * width + (block + 1) * edge));
    }
  };
  const square = (data, index) => {
    const size = Math.floor(height / 6), radius = height >> 2, step = index % 240, along = Math.floor((radius * (step % 60)) / 60);
    const [across, down] = [[along, along - radius], [radius - along, along], [-along, radius - along], [along - radius, -along]][Math.floor(step / 60)];
    const left = (width >> 1) + across - (size >> 1), top = (height >> 1) + down - (size >> 1);
    for (let y = top; y < top + size; y++) data.fill(220, y * width + left, y * width + left + size);
  };
  const draw = (index) => {
    const data = new Uint8Array(width * height * 1.5);
    const shift = (period) => Math.floor(((index % 120) * period) / 120);
    for (let y = 0; y < height; y++) {
      const offset = (shift(period) + y) % period;
      data.set(luma.subarray(offset, offset + width), y * width);
    }
    for (let plane = 0; plane < 2; plane++) {
      const base = width * height * (1 + plane / 4);
      for (let y = 0; y < height / 2; y++) {
        // U drifts to one side and V to the other.
        const offset = (plane === 0 ? shift(height) + y : 2 * height - shift(height) + y) % height;
        data.set(chroma[plane].subarray(offset, offset + width / 2), base + (y * width) / 2);
      }
    }
    square(data, index);
    stamp(data, 0, index);
    stamp(data, 1, Date.now() % 4294967296);
    for (let plane = 0; plane < 2; plane++) {
      const base = width * height * (1 + plane / 4);
      data.fill(128, base, base + edge * (width / 2));
    }
    return data;
  };
  const track = new MediaStreamTrackGenerator({ kind: "video" });
  const writer = track.writable.getWriter();
  const started = performance.now();
  let index = 0;
  setInterval(() => {
    const due = Math.floor(((performance.now() - started) * rate) / 1000);
    if (due <= index) return;
    index = due;
    const timestamp = Math.round((index * 1e6) / rate);
    writer.write(new VideoFrame(draw(index), { format: "I420", codedWidth: width, codedHeight: height, timestamp }));
  }, 4);
  const devices = navigator.mediaDevices;
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async () => new MediaStream([...(await real({ audio: true })).getAudioTracks(), track]);
}
