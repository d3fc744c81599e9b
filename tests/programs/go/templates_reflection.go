// Names that are read as texts: reflection, JSON and templates.
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

type itemReflect struct {
	Key   string `json:"key"`
	Value int    `json:"value"`
}

func fieldsReflect() string {
	item := itemReflect{Key: "k", Value: 2}
	kind := reflect.TypeOf(item)
	names := []string{}
	for index := 0; index < kind.NumField(); index++ {
		field := kind.Field(index)
		tag := field.Tag.Get("json")
		names = append(names, field.Name+"="+tag)
	}
	return strings.Join(names, " ")
}

func encodeReflect() string {
	key, value := "a", 3
	local := struct {
		Key   string
		Value int
	}{key, value}
	data, err := json.Marshal(local)
	if err != nil {
		return err.Error()
	}
	other, _ := json.Marshal(map[string]any{"key": key, "value": value})
	return string(data) + string(other)
}

func fillReflect() string {
	var out strings.Builder
	page := template.Must(template.New("page").Parse(`{{range $i, $e := .items}}{{$i}}{{$e}}{{end}}`))
	items := []string{"x", "y"}
	values := map[string]any{"items": items}
	if err := page.Execute(&out, values); err != nil {
		return err.Error()
	}
	return out.String()
}

func main() {
	text := fieldsReflect() + encodeReflect() + fillReflect()
	if text != `Key=key Value=value{"Key":"a","Value":3}{"key":"a","value":3}0x1y` {
		panic(text)
	}
	fmt.Println(text)
}
