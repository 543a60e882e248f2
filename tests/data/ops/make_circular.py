#!/usr/bin/env python3
"""Writes circular.txt: sine and cosine of numbers with all exponents, for tests/ops/math_test.cpp. Needs mpmath.

    make_circular.py >circular.txt

A line holds the number of mantissa bits (24 or 53), x, and its sine and cosine rounded to 64 bits, as hexadecimal floats.
For every exponent there are two numbers: a random one, and the one nearest to a multiple of pi/2, for which most bits of 2/pi cancel.
The continued fraction of 2^e 2/pi gives the latter.
"""
import random

from mpmath import mp, mpf, cos, floor, pi, sin

mp.prec = 1400


def hexadecimal(x):
    """Returns x rounded to a 64-bit mantissa, to nearest, as text."""
    if x == 0:
        return "0x0p+0"
    mantissa, exponent = mp.frexp(abs(x))
    return "%s0x%xp%+d" % ("-" if x < 0 else "", int(floor(mpf(mantissa) * 2**64 + mpf(1) / 2)), exponent - 64)


def nearest_to_a_zero(digits, e):
    """Returns the m of at most `digits` bits for which m 2^e 2/pi is nearest to an integer."""
    alpha = mpf(2) ** e * 2 / pi
    before, m, rest = 0, 1, alpha - floor(alpha)
    while True:
        quotient = int(floor(1 / rest))
        rest = 1 / rest - quotient
        before, m = m, quotient * m + before
        if m >= 2**digits:
            return before


def main():
    generator = random.Random(1)
    for digits, largest in ((24, 128), (53, 1024)):
        for exponent in range(-12, largest):
            e = exponent - digits + 1
            for m in (2 ** (digits - 1) + generator.getrandbits(digits - 1), nearest_to_a_zero(digits, e)):
                m *= generator.choice((-1, 1))
                x = m * mpf(2) ** e
                print(digits, "%sp%+d" % (hex(m), e), hexadecimal(sin(x)), hexadecimal(cos(x)))


if __name__ == "__main__":
    main()
