"""The chat model: any OpenAI-compatible endpoint, Hugging Face inference, or none."""
