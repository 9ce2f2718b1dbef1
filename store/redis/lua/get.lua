return {now, word(KEYS[1])}
