"""The largest l1 change of the upper triangle when one row is replaced: the proof, and the bounds in whole numbers.

x, y: the two rows, in the unit ball. a = x + y, b = x - y, c = <a,b> = |x|^2 - |y|^2, G = xx' - yy' = (ab' + ba') / 2,
so 2 ||G||_F^2 = |a|^2 |b|^2 + c^2. L^2 = ((d + 1)^2 + 1) / 2.

**Lemma**: V = sum_{i<=j} |G_ij| <= L ||G||_F / sqrt(2). A coordinate that changes its sign in both rows changes no
|G_ij|, so let a >= 0. P: the p coordinates with b >= 0, N: the other m = d - p; e = |b|; k, l: the sums of a_i e_i over
P and over N. Within P and within N no terms cancel, so
  2 V = (sum_P a)(sum_P e) + (sum_N a)(sum_N e) + sum_{PxN} |a_i e_j - e_i a_j| + k + l.
With u = |a_P| |e_P| >= k, v = |a_N| |e_N| >= l and w^2 = sum_{PxN} (a_i e_j - e_i a_j)^2 the first product is at most
p (u + k) / 2 (p times the top eigenvalue of the symmetric product of a_P and e_P), the second m (v + l) / 2, the third
sum sqrt(p m) w, and k + l <= (u + k + v + l) / 2:
  2 V <= (p + 1)(u + k) / 2 + (m + 1)(v + l) / 2 + sqrt(p m) w <= L sqrt(u^2 + k^2 + v^2 + l^2 + w^2),
because (p + 1)^2 / 2 + (m + 1)^2 / 2 + p m = L^2. And w^2 = |a_P|^2 |e_N|^2 + |e_P|^2 |a_N|^2 - 2 k l, so the last
root is that of |a|^2 |b|^2 + (k - l)^2 = 2 ||G||_F^2.

**Alone**: ||G||_F^2 <= 2, so V <= L. Attained for even d: x = r cos t, y = r sin t on one half of the coordinates,
x = -r sin t, y = r cos t on the other, r^2 = 2 / d, tan 2t = d / (d + 2). d = 1: 1.

**With the mean** (an anchor s): V + s |b|_1 <= V + s sqrt(d) |b|. Both rows in the ball: |a|^2 + |b|^2 + 2 |c| <= 4.
For a given |b| = B that allows |c| <= B (2 - B), and |a|^2 |b|^2 + c^2, convex in |c|, is largest at c = 0 or there:
2 ||G||_F^2 is at most B^2 (4 - B^2) or 2 B^2 (2 - B)^2. The second is larger for B < 2/3 only, and then smaller than
the first at B^2 = 2, where the mean adds more. So the change is at most the largest L A B / 2 + s sqrt(d) B with
A^2 + B^2 <= 4. For every g > L, with q = 2 s sqrt(d),
  L A B / 2 <= g A^2 / 4 + L^2 B^2 / (4 g)  and  q B / 2 <= (g^2 - L^2) B^2 / (4 g) + g q^2 / (4 (g^2 - L^2)),
so that g + g q^2 / (4 (g^2 - L^2)) is a bound. It is smallest at g^2 = L^2 + (q^2 + q sqrt(32 L^2 + q^2)) / 8; rounding
g leaves it a bound. d = 1: 1 - r^2 + s (1 + r), of the rows 1 and -r, is largest at r = s / 2: (1 + s / 2)^2.

**Rows with weights**, of persons: a person contributes A = sum w z z', sum w <= 1, over z = (x, r) with x in the ball
and 0 <= r <= s (cut anchors are a little shorter). Padded with zero rows to the weight 1, the difference of two persons
is a sum of w (zz' - vv') with weights that add up to 1, so every bound above holds if it holds for any two such z = (x,
r), v = (y, t), zero rows among them. The change is V + |r x - t y|_1, convex in r and t apart, so largest where each is
0 or s; the corner is public (n s^2) and does not change. For (s, s) it is the bound with the mean. For (s, 0) it is V +
s |x|_1 <= L + s sqrt(d), which is no more. With classes nothing changes: the bound grows in r and in t.

**With classes**, two rows of different classes: V + s (|x|_1 + |y|_1) + 2 s^2 <= L + 2 s sqrt(d) + 2 s^2, more than two
rows of one class; d = 1: the bound with the mean, + 2 s^2.

**With flags of missing cells** (integer_gram.py) a row has at most d numbers that are not zero, whatever the number of
flags; with categories at most as many as there are declared columns, and d stands for their number below. So V <=
(|x|_1^2 + |x|^2 + |y|_1^2 + |y|^2) / 2 <= d + 1, because |x|_1^2 <= d |x|^2. Attained where every column has a flag: x
without a missing cell, y with no other, all entries 1 / sqrt(d). The edges add s |x - y|_1 <= s (|x|_1 +
|y|_1) <= 2 s sqrt(d), attained by the same rows; two classes add 2 s^2. The bounds above, for as many coordinates, hold
too and are smaller for few flags: the smaller is taken. Add-remove: |z|_1 <= sqrt(d) + s as
without flags.
"""

from __future__ import annotations

import math

from privcov.tables.public_facts import PublicFacts


def l1_change(d: int, m: int, anchor: int, n_anchors: int) -> int:
    """Return an upper bound of the change of the triangle of zz' in the l1 norm, for whole rows of length at most m.

    A change is a sum of whole numbers, so a term of the bound that bounds one of them is rounded down.
    """
    if d == 1:
        alone = (2 * m + anchor) ** 2 // 4 if n_anchors else m * m
        return alone + (2 * anchor**2 if n_anchors > 1 else 0)
    square = ((d + 1) ** 2 + 1) * m**4 // 2
    if n_anchors == 0:
        return math.isqrt(square)
    edge = math.isqrt(4 * d * anchor**2 * m**2)
    if n_anchors > 1:
        return math.isqrt(square) + edge + 2 * anchor**2
    most, q = math.isqrt(square) + 1, edge + 1
    g = math.isqrt(most**2 + (q**2 + q * math.isqrt(32 * most**2 + q**2)) // 8) + 1
    return g + g * q**2 // (4 * (g**2 - most**2))


def flagged_l1(facts: PublicFacts, m: int, anchor: int, n_anchors: int) -> int:
    """Return `l1_change` for the rows of a table, with their flags of missing cells and the weights of persons."""
    wide = l1_change(facts.width, m, anchor, n_anchors)
    if facts.max_nonzero == facts.width:
        return wide
    edges = math.isqrt(4 * facts.max_nonzero * anchor**2 * m**2)
    corner = 2 * anchor**2 if n_anchors > 1 else 0
    return min(wide, (facts.max_nonzero + 1) * m**2 + edges + corner)
