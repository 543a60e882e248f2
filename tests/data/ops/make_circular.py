#!/usr/bin/env python3
"""Writes circular.txt: sin and cos of numbers of all exponents, for tests/ops/math_test.cpp (needs mpmath).

A line is a type's digits (24, 53), x, and its sine and cosine to 64 bits, as hexadecimal floats. For every exponent there is a number
drawn at random and the one that comes nearest to a multiple of pi/2, where most bits of 2/pi cancel: the continued fraction of
2^e 2/pi has it.
    make_circular.py >circular.txt
"""
import random

from mpmath import mp, mpf, cos, floor, pi, sin

mp.prec = 1400


def hexadecimal(x):
    """A float of 64 bits, rounded to nearest."""
    if x == 0:
        return "0x0p+0"
    mantissa, exponent = mp.frexp(abs(x))
    return "%s0x%xp%+d" % ("-" if x < 0 else "", int(floor(mpf(mantissa) * 2**64 + mpf(1) / 2)), exponent - 64)


def nearest_to_a_zero(digits, e):
    """The m of at most `digits` bits with the smallest distance of m 2^e 2/pi from an integer."""
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
