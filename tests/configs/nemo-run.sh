#!/bin/bash
# The run of nemo-run.yaml, as a script for Megatron-LM.
torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py \
    --num-layers 8 --hidden-size 256 --num-attention-heads 8 --ffn-hidden-size 512 \
    --group-query-attention --num-query-groups 4 --seq-length 128 --max-position-embeddings 128 \
    --tokenizer-type GPT2BPETokenizer --make-vocab-size-divisible-by 128 \
    --swiglu --normalization RMSNorm --position-embedding-type rope --disable-bias-linear \
    --attention-dropout 0.0 --hidden-dropout 0.0 --untie-embeddings-and-output-weights \
    --tensor-model-parallel-size 4 --sequence-parallel --pipeline-model-parallel-size 2 \
    --virtual-pipeline-model-parallel-size 2 --overlap-p2p-communication --tp-comm-overlap \
    --micro-batch-size 1 --global-batch-size 32 --bf16 --grad-reduce-in-bf16 --fp8-format hybrid \
    --recompute-granularity selective --transformer-impl transformer_engine \
    --optimizer adam --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
    --ddp-bucket-size 52428800 --lr 0.9e-4
