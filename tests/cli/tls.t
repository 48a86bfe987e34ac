#!tests/transcript
# SPDX-License-Identifier: MIT
# a server with a certificate of its own making: refused with the remedy, trusted when it is named
> up.sh
| openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2> /dev/null
| hone serve --home srv --port 0 --tls cert.pem key.pem --json > served 2> log & echo $! > pid
| until [ -s served ]; do sleep 0.02; done
| python3 -c 'import json; print("https://" + json.load(open("served"))["address"])' > url
> ask.sh
| HONE_SERVER=$(cat url) HONE_TOKEN=$(cat token) exec hone "$@"
$ sh up.sh; hone token add ada --home srv > token
$ sh ask.sh ls
hone: the server at https://127.0.0.1:[..] is not trusted: [..]; if it is yours, name its certificate with --ca FILE or HONE_CA
? 1
$ sh ask.sh submit --set code=none --minimize a -- sh -c 'echo a=1'
hone: the server at https://127.0.0.1:[..] is not trusted: [..]
? 1
$ sh ask.sh ls --ca cert.pem; HONE_CA=cert.pem sh ask.sh ls; CURL_CA_BUNDLE=cert.pem sh ask.sh ls; env -u CURL_CA_BUNDLE SSL_CERT_FILE=cert.pem sh ask.sh ls
no experiments yet in [..]/srv
no experiments yet in [..]/srv
no experiments yet in [..]/srv
no experiments yet in [..]/srv
$ HONE_CA=nowhere sh ask.sh ls --ca cert.pem
no experiments yet in [..]/srv
$ HONE_CA=nowhere.pem sh ask.sh ls
hone: nowhere.pem holds no certificates that can be read: it should be PEM
? 1
$ kill $(cat pid)
