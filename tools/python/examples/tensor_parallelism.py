#!/usr/bin/env python3
"""Which tensor parallelism suits Llama 3 8B on one DGX H100, and what decides its step time? Writes tensor_parallelism.html."""

import ringwright

SCENARIO = 'llama3-8b-8-h100'


def main():
    plan = {'name': 'tensor parallelism', 'scenario': SCENARIO, 'grid': {'parallel.tp': [1, 2, 4, 8]}}
    points = ringwright.columns(ringwright.sweep(plan)['points'])
    for tp, seconds, memory in zip(points['values.parallel.tp'], points['step_time_s'], points['memory_bytes']):
        print(f'TP {tp}: {seconds:7.3f} s per step, {memory / 2**30:5.1f} GiB')

    change = ringwright.compare(SCENARIO, set={'parallel.tp': 8})['differences'][0]
    print('From TP 1 to TP 8:', ', '.join(f"{part['cause']} {part['ps'] / 1e12:+.3f} s"
                                          for part in change['changes_ps'] if abs(part['ps']) > 1e10))

    response = ringwright.sensitivity(SCENARIO)
    strongest = response['parameters'][0]
    print(f"The step time depends most on {strongest['key']} ({strongest['elasticity']:+.2f}).")
    ringwright.write_report(response, 'tensor_parallelism.html')


if __name__ == '__main__':
    main()
