"""The choice of an attention kernel, which chooses nothing."""


class SDPBackend:
    CUDNN_ATTENTION, FLASH_ATTENTION = 'cudnn', 'flash'


class sdpa_kernel:
    def __init__(self, kinds):
        assert len(kinds) == 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False
