#!/bin/sh
# An MCP server that takes a megabyte, for tests with many of them. It has the tool "pid".
while IFS= read -r line; do
  id=${line##*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      version=${line##*'"protocolVersion":"'}
      result="{\"protocolVersion\":\"${version%%'"'*}\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"light\",\"version\":\"1\"}}" ;;
    *'"method":"tools/list"'*) result='{"tools":[{"name":"pid","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) result="{\"content\":[{\"type\":\"text\",\"text\":\"$$\"}]}" ;;
    *'"method":"notifications/'*) continue ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
