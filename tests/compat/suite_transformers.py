# ruff: noqa: E501, SIM905 (lists of names)
"""Hugging Face architectures, built from their configurations with small numbers; nothing is downloaded."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from tests.compat import programs
from tests.compat.programs import Compiler, Program

_CAUSAL = (
    "apertus arcee bart bert bigbird_pegasus big_bird biogpt bitnet blenderbot bloom camembert codegen cohere cohere2 "
    "cpmant ctrl dbrx deepseek_v2 deepseek_v3 diffllama doge dots1 electra ernie ernie4_5 exaone4 falcon falcon_h1 "
    "falcon_mamba gemma gemma2 glm glm4 glm4_moe gpt2 gpt_bigcode gpt_neo gpt_neox gpt_neox_japanese gpt_oss gptj "
    "granite granitemoe granitemoeshared helium hunyuan_v1_dense jamba jetmoe lfm2 llama mamba mamba2 megatron-bert "
    "minimax mistral mixtral modernbert-decoder moshi mpt nemotron olmo olmo2 olmo3 olmoe openai-gpt opt persimmon phi phi3 "
    "phimoe plbart qwen2 qwen2_moe qwen3 qwen3_moe recurrent_gemma reformer rembert roberta roc_bert roformer rwkv "
    "seed_oss smollm3 stablelm starcoder2 xglm xlm xlm-roberta xlnet xmod zamba zamba2"
).split()
_MASKED = (
    "albert bert camembert convbert data2vec-text deberta deberta-v2 distilbert electra ernie esm flaubert fnet funnel "
    "ibert layoutlm longformer luke megatron-bert mobilebert modernbert mpnet mra nystromformer perceiver rembert roberta "
    "roformer squeezebert tapas xlm-roberta yoso"
).split()
_SEQUENCE = "bart blenderbot-small led longt5 m2m_100 marian mbart mt5 mvp nllb-moe pegasus pegasus_x prophetnet switch_transformers t5 umt5".split()
_IMAGE = (
    "beit convnext convnextv2 cvt data2vec-vision deit dinov2 efficientnet focalnet hiera ijepa levit mobilenet_v1 "
    "mobilenet_v2 mobilevit mobilevitv2 poolformer pvt pvt_v2 regnet resnet segformer swiftformer swin swinv2 vit vit_msn"
).split()
_AUDIO = "hubert sew unispeech unispeech-sat wav2vec2 wavlm wav2vec2-conformer".split()
_KINDS = {
    "causal": (_CAUSAL, "AutoModelForCausalLM"),
    "masked": (_MASKED, "AutoModelForMaskedLM"),
    "sequence": (_SEQUENCE, "AutoModelForSeq2SeqLM"),
    "image": (_IMAGE, "AutoModelForImageClassification"),
    "audio": (_AUDIO, "AutoModelForCTC"),
}
_SMALL: Mapping[str, Any] = {
    "vocab_size": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_size": 32,
    "n_embd": 32,
    "d_model": 32,
    "dim": 32,
    "emb_dim": 32,
    "embedding_size": 32,
    "intermediate_size": 64,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "ffn_dim": 64,
    "n_inner": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "d_ff": 64,
    "d_kv": 8,
    "d_inner": 64,
    "hidden_dim": 64,
    "num_hidden_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "num_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_decoder_layers": 2,
    "num_attention_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "image_size": 32,
    "patch_size": 8,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "rotary_dim": 8,
    "use_cache": False,
}
_IMAGE_KEPT = (
    "hidden_size",
    "hidden_sizes",
    "embed_dim",
    "depths",
    "dim",
    "patch_size",
    "num_heads",
    "num_layers",
    "num_attention_heads",
)
"""Lists per stage in models of images: their own numbers stay."""


def names() -> Sequence[str]:
    """Head and architecture, as far as this version of transformers has them."""
    import transformers

    known = transformers.CONFIG_MAPPING
    return [f"{kind}.{name}" for kind, (listed, _) in _KINDS.items() for name in listed if name in known]


def build(name: str) -> Program:
    """A tiny model, in training mode. Raises LookupError where such small numbers make none."""
    import transformers

    transformers.logging.set_verbosity_error()
    kind, _, architecture = name.partition(".")
    head = getattr(transformers, _KINDS[kind][1])
    config = _small(transformers.CONFIG_MAPPING[architecture], kind)

    def program(compiler: Compiler) -> Any:
        torch.manual_seed(0)
        model = head.from_config(config, attn_implementation="sdpa" if _has_sdpa(head, config) else "eager").train()
        model.to(programs.device())
        given = {
            key: value.to(programs.device())
            for key, value in _inputs(kind).items()
            if key in inspect.signature(model.forward).parameters
        }
        out = compiler(model)(**given)
        loss = out.loss if getattr(out, "loss", None) is not None else out.logits.square().mean()
        loss.backward()
        return loss, out.logits, [value.grad for value in model.parameters()][:4]

    return program


def _small(kind_of_config: Any, kind: str) -> Any:
    plain = kind_of_config()
    wanted = {}
    for key, value in _SMALL.items():
        if not hasattr(plain, key) or (kind == "image" and key in _IMAGE_KEPT):
            continue
        if isinstance(getattr(plain, key), (list, tuple, dict)):
            continue
        wanted[key] = value
    for left_out in ((), ("head_dim",), ("num_key_value_heads", "head_dim"), ("embedding_size", "emb_dim")):
        try:
            return kind_of_config(**{key: value for key, value in wanted.items() if key not in left_out})
        except Exception as problem:
            last = problem
    raise LookupError(f"no small configuration: {last}")


def _has_sdpa(head: Any, config: Any) -> bool:
    try:
        return bool(head._model_mapping[type(config)]._supports_sdpa)
    except (KeyError, AttributeError, TypeError):
        return False


def _inputs(kind: str) -> dict[str, Any]:
    torch.manual_seed(1)
    words = torch.randint(3, 100, (2, 16))
    if kind == "image":
        return {"pixel_values": torch.randn(2, 3, 32, 32), "labels": torch.tensor([0, 1])}
    if kind == "audio":
        return {"input_values": torch.randn(2, 12000), "labels": torch.ones(2, 2, dtype=torch.int64)}
    if kind == "sequence":
        return {"input_ids": words, "labels": words}
    return {"input_ids": words, "labels": words, "attention_mask": torch.ones_like(words)}
