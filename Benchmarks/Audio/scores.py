"""Scores of received speech: PESQ (ITU-T P.862.2), ViSQOL (speech), and the delay that the waveform shows."""

import contextlib
import logging
import os

import numpy as np
from pesq import pesq
from scipy.signal import fftconvolve, resample_poly

import speech

RATE = 16000
LONGEST = 1.5  # seconds of delay that are looked for


def quietly(make):
    """Without what TensorFlow says on standard error."""
    logging.disable(logging.WARNING)
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            return make()
        finally:
            os.dup2(kept, 2)
            os.close(kept)


class Scorer:
    def __init__(self, reference):
        from visqol import VisqolApi

        self.reference = resample_poly(reference, 1, 3)
        self.visqol = VisqolApi()
        quietly(lambda: self.visqol.create(mode="speech"))

    def score(self, received):
        """`received` begins when the first packet was sent, at 48 kHz. PESQ and ViSQOL as means over the segments, delay in ms."""
        received = resample_poly(received, 1, 3)
        length = speech.SECONDS * RATE
        missing = len(self.reference) + int(LONGEST * RATE) - len(received)
        if missing > 0:
            received = np.concatenate([received, np.zeros(missing)])
        pesqs, visqols, delays = [], [], []
        for start in range(0, len(self.reference) - length + 1, length):
            reference = self.reference[start : start + length]
            lag = self.lag(reference, received[start : start + length + int(LONGEST * RATE)])
            delays += self.delays(reference, received[start:], lag)
            degraded = received[start + lag : start + lag + length]
            if np.max(np.abs(degraded)) < 0.001:
                pesqs.append(1.0)
                visqols.append(1.0)
                continue
            with contextlib.suppress(Exception):
                pesqs.append(pesq(RATE, reference, degraded, "wb"))
            visqols.append(quietly(lambda: self.visqol.measure_from_arrays(reference, degraded, RATE).moslqo))
        return {
            "pesq": float(np.mean(pesqs)) if pesqs else None,
            "visqol": float(np.mean(visqols)),
            "delay": float(np.mean(delays)) if delays else None,
        }

    @staticmethod
    def lag(reference, received):
        return int(np.argmax(fftconvolve(received, reference[::-1], mode="valid")))

    @staticmethod
    def delays(reference, received, coarse):
        """The delay of each quarter of a second that resembles what was sent."""
        window, reach = RATE // 4, int(0.15 * RATE)
        found = []
        for at in range(0, len(reference) - window, window):
            part = reference[at : at + window]
            if np.mean(part**2) < 1e-4:
                continue
            first = at + coarse - reach
            if first < 0:
                continue
            around = received[first : at + coarse + reach + window]
            if len(around) < window:
                continue
            product = fftconvolve(around, part[::-1], mode="valid")
            energy = fftconvolve(around**2, np.ones(window), mode="valid")
            likeness = product / np.sqrt(np.maximum(energy, 1e-9) * np.sum(part**2))
            best = int(np.argmax(likeness))
            if likeness[best] > 0.7:
                found.append((coarse - reach + best) * 1000 / RATE)
        return found
