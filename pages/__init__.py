"""The pages. This file keeps an installed package of the same name out of the way; Streamlit skips it."""
