// Names beyond ASCII, texts with quotes of all kinds, and comments that name variables.
package main

import "fmt"

func größeUnicode() string {
	größe, key := 3, "ü"
	/* größe and key are named here, and value too */
	value := größe * 2 // value
	naïve := value + 1
	raw := `key "value" \n`
	return fmt.Sprint(key, value, naïve, raw, 'k', "größe")
}

func quotedUnicode() string {
	quote, tick := '\'', "`"
	text := "// no comment: " + tick
	count := len(text)
	res := string(quote) + text + "/* neither */"
	return fmt.Sprint(count, res)
}

func main() {
	text := größeUnicode() + quotedUnicode()
	if text != "ü6 7key \"value\" \\n107größe16'// no comment: `/* neither */" {
		panic(text)
	}
	fmt.Println(text)
}
