#!/bin/sh
# Makes certificates for the etcd of several coordinators, with an authority of its own.
#   ./etcd-certificates.sh one=192.0.2.11 two=192.0.2.12 three=192.0.2.13
# Writes a folder for each machine, with ca.crt, server.crt, server.key, client.crt and client.key. Copy each to
# /etc/everynode/etcd/ of its machine. Keep ca.key offline: who has it can read and change the fleet's log.
# Run it again with more machines to add some: the authority in ca.key and ca.crt is used again.
set -eu
umask 077
days=3650

if [ $# -eq 0 ]; then
  echo "usage: $0 NAME=ADDRESS..." >&2
  exit 2
fi
for machine in "$@"; do
  case $machine in
    *=*) ;;
    *) echo "$0: \"$machine\" is not of the form NAME=ADDRESS" >&2; exit 2 ;;
  esac
done

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

if [ ! -e ca.key ]; then
  new_key ca.key
  openssl req -x509 -new -key ca.key -days $days -subj "/CN=everynode-etcd-ca" -out ca.crt
fi

# issue FOLDER FILE SUBJECT EXTENSIONS
issue() {
  new_key "$1/$2.key"
  openssl req -new -key "$1/$2.key" -subj "/CN=$3" -out "$1/$2.csr"
  printf '%s\n' "basicConstraints=critical,CA:FALSE" "keyUsage=critical,digitalSignature" "$4" >"$1/$2.ext"
  openssl x509 -req -in "$1/$2.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days $days \
    -extfile "$1/$2.ext" -out "$1/$2.crt" 2>/dev/null
  rm "$1/$2.csr" "$1/$2.ext"
}

for machine in "$@"; do
  name=${machine%%=*}
  address=${machine#*=}
  case $address in
    *[!0-9.]*) san="DNS:$address" ;;
    *) san="IP:$address" ;;
  esac
  case $address in *:*) san="IP:$address" ;; esac
  mkdir -p "$name"
  # A member of etcd is a server, and a client of the other members.
  issue "$name" server "$name" "subjectAltName=$san
extendedKeyUsage=serverAuth,clientAuth"
  issue "$name" client "coordinator-$name" "extendedKeyUsage=clientAuth"
  cp ca.crt "$name/ca.crt"
  echo "$name/: certificates for $address"
done
