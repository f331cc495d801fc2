"""The training of a group of networks as one CUDA kernel, written in Triton.

A program trains a few networks whose hidden units stand side by side in the columns of its
matrices, from the first epoch to the last: weights, steps and gradients never leave the
multiprocessor, and the rows, which all networks of an ensemble share, come from the second-level
cache. What belongs to a network as a whole (output, loss, patience) is kept once per hidden unit:
a product with the matrix of "same network" sums over units and spreads the sum in one go.

Imported only where torch and Triton are there; see `purecover_paper.networks.cuda`.
"""

from __future__ import annotations

import triton
import triton.language as tl

# Triton compiles these functions; they are not Python that could be typed or measured.
# mypy: ignore-errors
# ruff: noqa: ANN001, ANN202, SIM108


VARIANTS = {"rprop-": 0, "irprop-": 1, "rprop+": 2, "irprop+": 3}


@triton.jit
def _tanh(x):
    # Fast units give powers of 2 and quotients to 1e-7; tanh itself they give to 5e-4 only.
    return 1.0 - 2.0 / (1.0 + tl.exp2(x * 2.8853900817779268))


@triton.jit
def _moves(gradient, step, sign_before, move_before, rose, alive, grow, shrink, smallest, largest,
           VARIANT: tl.constexpr):  # fmt: skip
    """Rprop, as in `purecover_paper.networks.rprop`: moves, steps and signs."""
    sign = tl.where(gradient > 0, 1.0, tl.where(gradient < 0, -1.0, 0.0))
    agreement = sign * sign_before
    turned = agreement < 0
    step = tl.where(
        agreement > 0,
        tl.minimum(step * grow, largest),
        tl.where(turned, tl.maximum(step * shrink, smallest), step),
    )
    if VARIANT != 0:
        sign = tl.where(turned, 0.0, sign)
    move = -sign * step
    if VARIANT == 2:
        move = tl.where(turned, -move_before, move)
    if VARIANT == 3:
        move = tl.where(turned & rose, -move_before, move)
    return tl.where(alive, move, 0.0), step, sign


_SIZES = ["n_rows", "n_networks", "n_features", "groups", "max_epochs", "patience"]


@triton.jit(do_not_specialize=_SIZES)
def train_kernel(
    features, targets, counts, means, inverses, initial, best, best_epochs, best_losses,
    n_rows, n_networks, n_features, groups,
    grow, shrink, first, smallest, largest, max_epochs, patience,
    HIDDEN: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr, BLOCK: tl.constexpr,
    VARIANT: tl.constexpr, LOGISTIC: tl.constexpr, ENTROPY: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Train ``WIDTH // HIDDEN`` networks of one ensemble.

    features: (ensembles, rows, DEPTH), of which n_features count, the rest is 0;
    counts: (ensembles, networks, rows), training counts in the low, validation counts in the
    high four bits; means and inverses: (ensembles, features, networks), the standardization of
    each bag; initial and best: (ensembles, parameters, networks).
    """
    PER: tl.constexpr = WIDTH // HIDDEN
    program = tl.program_id(0)
    ensemble = (program // groups).to(tl.int64)
    column = tl.arange(0, WIDTH)
    member = column // HIDDEN
    unit = column % HIDDEN
    network = (program % groups) * PER + member
    valid = (member < PER) & (network < n_networks)
    same = (member[:, None] == member[None, :]) & valid[:, None] & valid[None, :]
    same = tl.where(same, 1.0, 0.0)

    feature = tl.arange(0, DEPTH)
    inputs = n_features + 1  # of a unit: the bias is the last
    n_parameters = inputs * HIDDEN + HIDDEN + 1
    weights_at = ensemble * n_parameters * n_networks
    inner_at = (unit[None, :] * inputs + feature[:, None]) * n_networks + network[None, :]
    inner_at += weights_at
    inner_mask = (feature < n_features)[:, None] & valid[None, :]
    shift_at = weights_at + (unit * inputs + n_features) * n_networks + network
    outer_at = weights_at + (inputs * HIDDEN + unit) * n_networks + network
    bias_at = weights_at + (n_parameters - 1) * n_networks + network

    row = tl.arange(0, BLOCK)
    features += ensemble * n_rows * DEPTH
    targets += ensemble * n_rows
    counts += (ensemble * n_networks + network[None, :]) * n_rows

    scale_at = (ensemble * n_features + feature[:, None]) * n_networks + network[None, :]
    mean = tl.load(means + scale_at, mask=inner_mask, other=0.0)
    inverse = tl.load(inverses + scale_at, mask=inner_mask, other=0.0)
    inner = tl.load(initial + inner_at, mask=inner_mask, other=0.0)
    shift = tl.load(initial + shift_at, mask=valid, other=0.0)
    outer = tl.load(initial + outer_at, mask=valid, other=0.0)
    bias = tl.load(initial + bias_at, mask=valid, other=0.0)
    inner_step = tl.full((DEPTH, WIDTH), 1.0, tl.float32) * first
    outer_step = tl.full((WIDTH,), 1.0, tl.float32) * first
    bias_step, shift_step = outer_step, outer_step
    inner_sign = tl.zeros((DEPTH, WIDTH), tl.float32)
    outer_sign = tl.zeros((WIDTH,), tl.float32)
    bias_sign, shift_sign = outer_sign, outer_sign
    inner_move = inner_sign
    shift_move, outer_move, bias_move = outer_sign, outer_sign, outer_sign
    loss_before = tl.full((WIDTH,), float("inf"), tl.float32)
    best_loss = tl.full((WIDTH,), float("inf"), tl.float32)
    best_epoch = tl.zeros((WIDTH,), tl.int32)
    failures = tl.where(valid, 0, patience)

    epoch = tl.zeros((WIDTH,), tl.int32)
    running = 1
    while running > 0:
        scaled = inner * inverse
        shifted = shift - tl.sum(scaled * mean, axis=0)
        slope_inner = tl.zeros((DEPTH, WIDTH), tl.float32)
        slope_shift = tl.zeros((BLOCK, WIDTH), tl.float32)
        slope_outer = tl.zeros((BLOCK, WIDTH), tl.float32)
        slope_bias = tl.zeros((BLOCK, WIDTH), tl.float32)
        loss_sum = tl.zeros((BLOCK, WIDTH), tl.float32)
        held_sum = tl.zeros((BLOCK, WIDTH), tl.float32)
        for start in range(0, n_rows, BLOCK):
            here = start + row
            inside = here < n_rows
            x = tl.load(features + here[:, None] * DEPTH + feature[None, :],
                        mask=inside[:, None], other=0.0)  # fmt: skip
            y = tl.load(targets + here, mask=inside, other=0.0)
            byte = tl.load(counts + here[:, None], mask=inside[:, None] & valid[None, :],
                           other=0)  # fmt: skip
            train = (byte & 15).to(tl.float32)
            held = (byte >> 4).to(tl.float32)
            units = _tanh(tl.dot(x, scaled, input_precision=PRECISION) + shifted[None, :])
            pulled = tl.dot(units * outer[None, :], same, input_precision=PRECISION)
            pulled += bias[None, :]
            if LOGISTIC:
                output = 0.5 + 0.5 * _tanh(0.5 * pulled)
            else:
                output = _tanh(pulled)
            error = output - y[:, None]
            if ENTROPY:
                margin = pulled * ((2.0 * y - 1.0) if LOGISTIC else 2.0 * y)[:, None]
                losses = tl.log(1.0 + tl.exp(-tl.abs(margin))) + tl.maximum(-margin, 0.0)
                slope = train * error
            else:
                losses = error * error
                if LOGISTIC:
                    slope = train * error * output * (1.0 - output)
                else:
                    slope = train * error * (1.0 - output * output)
            loss_sum += train * losses
            held_sum += held * losses
            slope_bias += slope
            weighted = slope * units
            slope_outer += weighted
            back = slope - weighted * units
            slope_shift += back
            slope_inner = tl.dot(tl.trans(x), back, slope_inner, input_precision=PRECISION)
        loss = tl.sum(loss_sum, axis=0)
        held_out = tl.sum(held_sum, axis=0)
        pull = tl.sum(slope_shift, axis=0) * outer
        slope_inner = (slope_inner * outer[None, :] - mean * pull[None, :]) * inverse

        better = (held_out < best_loss) & (failures < patience)
        best_loss = tl.where(better, held_out, best_loss)
        best_epoch = tl.where(better, epoch, best_epoch)
        keep = better | (epoch == 0)
        tl.store(best + inner_at, scaled, mask=inner_mask & keep[None, :])
        tl.store(best + shift_at, shifted, mask=valid & keep)
        tl.store(best + outer_at, outer, mask=valid & keep)
        tl.store(best + bias_at, bias, mask=valid & keep & (unit == 0))
        failures = tl.where(better, 0, failures + 1)
        alive = failures < patience

        rose = loss > loss_before
        inner_move, inner_step, inner_sign = _moves(
            slope_inner, inner_step, inner_sign, inner_move, rose[None, :], alive[None, :],
            grow, shrink, smallest, largest, VARIANT)  # fmt: skip
        shift_move, shift_step, shift_sign = _moves(
            pull, shift_step, shift_sign, shift_move, rose, alive,
            grow, shrink, smallest, largest, VARIANT)  # fmt: skip
        outer_move, outer_step, outer_sign = _moves(
            tl.sum(slope_outer, axis=0), outer_step, outer_sign, outer_move, rose, alive,
            grow, shrink, smallest, largest, VARIANT)  # fmt: skip
        bias_move, bias_step, bias_sign = _moves(
            tl.sum(slope_bias, axis=0), bias_step, bias_sign, bias_move, rose, alive,
            grow, shrink, smallest, largest, VARIANT)  # fmt: skip
        inner += inner_move
        shift += shift_move
        outer += outer_move
        bias += bias_move
        loss_before = loss
        running = tl.sum((alive & (epoch < max_epochs)).to(tl.int32), axis=0)
        epoch += 1

    at = ensemble * n_networks + network
    tl.store(best_epochs + at, best_epoch, mask=valid & (unit == 0))
    tl.store(best_losses + at, best_loss, mask=valid & (unit == 0))


@triton.jit(do_not_specialize=_SIZES)
def apply_kernel(
    features, counts, weights, sums, sizes, n_rows, n_networks, n_features, groups,
    HIDDEN: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr, BLOCK: tl.constexpr,
    LOGISTIC: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Sum, over the networks that have not seen a row, of their outputs in [0, 1]."""
    PER: tl.constexpr = WIDTH // HIDDEN
    ensemble = tl.program_id(1).to(tl.int64)
    column = tl.arange(0, WIDTH)
    member = column // HIDDEN
    unit = column % HIDDEN
    feature = tl.arange(0, DEPTH)
    inputs = n_features + 1
    n_parameters = inputs * HIDDEN + HIDDEN + 1
    weights += ensemble * n_parameters * n_networks
    here = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = here < n_rows
    x = tl.load(features + (ensemble * n_rows + here)[:, None] * DEPTH + feature[None, :],
                mask=inside[:, None], other=0.0)  # fmt: skip
    total = tl.zeros((BLOCK, WIDTH), tl.float32)
    size = tl.zeros((BLOCK, WIDTH), tl.float32)
    for group in range(groups):
        network = group * PER + member
        valid = (member < PER) & (network < n_networks)
        same = (member[:, None] == member[None, :]) & valid[:, None] & valid[None, :]
        same = tl.where(same, 1.0, 0.0)
        inner_at = (unit[None, :] * inputs + feature[:, None]) * n_networks + network[None, :]
        inner = tl.load(weights + inner_at, mask=(feature < n_features)[:, None] & valid[None, :],
                        other=0.0)  # fmt: skip
        shift = tl.load(weights + (unit * inputs + n_features) * n_networks + network,
                        mask=valid, other=0.0)  # fmt: skip
        outer = tl.load(weights + (inputs * HIDDEN + unit) * n_networks + network,
                        mask=valid, other=0.0)  # fmt: skip
        bias = tl.load(weights + (n_parameters - 1) * n_networks + network, mask=valid, other=0.0)
        units = _tanh(tl.dot(x, inner, input_precision=PRECISION) + shift[None, :])
        pulled = tl.dot(units * outer[None, :], same, input_precision=PRECISION) + bias[None, :]
        if LOGISTIC:
            pulled *= 0.5
        output = 0.5 + 0.5 * _tanh(pulled)
        byte = tl.load(counts + (ensemble * n_networks + network[None, :]) * n_rows + here[:, None],
                       mask=inside[:, None] & (valid & (unit == 0))[None, :], other=1)  # fmt: skip
        unseen = tl.where(byte == 0, 1.0, 0.0)
        total += output * unseen
        size += unseen
    at = ensemble * n_rows + here
    tl.store(sums + at, tl.sum(total, axis=1), mask=inside)
    tl.store(sizes + at, tl.sum(size, axis=1).to(tl.int32), mask=inside)


@triton.jit(do_not_specialize=["n_rows", "n_networks", "held"])
def draw_kernel(drawn, seeds, n_rows, n_networks, held, BLOCK: tl.constexpr):
    """Count ``n_rows`` draws with replacement; the first ``held`` of them count 16 each."""
    program = tl.program_id(0).to(tl.int64)
    seed = tl.load(seeds + 2 * (program // n_networks))
    at = (program % n_networks) * n_rows
    for start in range(0, n_rows, BLOCK):
        draw = start + tl.arange(0, BLOCK)
        word = tl.randint(seed, (at + draw).to(tl.uint64)).to(tl.uint32)
        pick = tl.umulhi(word, (word * 0 + n_rows).to(tl.uint32)).to(tl.int64)
        value = tl.where(draw < held, 16, 1)
        tl.atomic_add(drawn + program * n_rows + pick, value, mask=draw < n_rows, sem="relaxed")


@triton.jit(do_not_specialize=["n_rows", "n_networks"])
def hold_out_kernel(drawn, packed, seeds, n_rows, n_networks, fraction, BLOCK: tl.constexpr):
    """Hold out the share ``fraction`` of the distinct rows of each bag.

    Rows have random keys; the key below which the wished number lies is found by bisection.
    """
    program = tl.program_id(0).to(tl.int64)
    seed = tl.load(seeds + 2 * (program // n_networks) + 1)
    keys_at = (program % n_networks) * n_rows
    at = program * n_rows
    distinct = 0
    for start in range(0, n_rows, BLOCK):
        row = start + tl.arange(0, BLOCK)
        count = tl.load(drawn + at + row, mask=row < n_rows, other=0)
        distinct += tl.sum((count > 0).to(tl.int32), axis=0)
    wished = tl.floor(fraction * distinct + 0.5).to(tl.int32)
    wished = tl.minimum(tl.maximum(wished, 1), distinct - 1)
    low = tl.full((), 0, tl.int64)
    high = tl.full((), 4294967296, tl.int64)
    for _ in range(32):
        middle = (low + high) // 2
        below = 0
        for start in range(0, n_rows, BLOCK):
            row = start + tl.arange(0, BLOCK)
            count = tl.load(drawn + at + row, mask=row < n_rows, other=0)
            key = tl.randint(seed, (keys_at + row).to(tl.uint64)).to(tl.uint32).to(tl.int64)
            below += tl.sum(((count > 0) & (key < middle)).to(tl.int32), axis=0)
        low = tl.where(below < wished, middle, low)
        high = tl.where(below < wished, high, middle)
    for start in range(0, n_rows, BLOCK):
        row = start + tl.arange(0, BLOCK)
        count = tl.minimum(tl.load(drawn + at + row, mask=row < n_rows, other=0), 15)
        key = tl.randint(seed, (keys_at + row).to(tl.uint64)).to(tl.uint32).to(tl.int64)
        value = tl.where(key < high, count * 16, count)
        tl.store(packed + at + row, value.to(tl.uint8), mask=row < n_rows)
