package folder

func syncDir(string) error { return nil }
