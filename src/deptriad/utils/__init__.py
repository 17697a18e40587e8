"""What every room uses: checks, text, files, progress, compiling, rounding."""
