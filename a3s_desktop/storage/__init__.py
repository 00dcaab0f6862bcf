"""Everything on disk: images, feature files, the project folder, its journal, and exports."""
