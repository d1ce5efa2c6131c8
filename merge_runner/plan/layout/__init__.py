"""The layouts of tables: declared, recorded, combined."""
