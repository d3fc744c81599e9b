"""Named parameters in SQL text, passed as a mapping."""

import sqlite3


def fill(rows):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table stock (key text, value integer)")
    statement = "insert into stock values (:key, :value)"
    count = 0
    for key, value in rows:
        connection.execute(statement, {"key": key, "value": value})
        count += 1
    return connection, count


def largest(connection, least):
    cursor = connection.cursor()
    query = "select key, value from stock where value >= ? order by value desc"
    found = cursor.execute(query, (least,)).fetchall()
    names = []
    for index in range(len(found)):
        name, amount = found[index]
        names.append(f"{name}={amount}")
    return names


def total(connection):
    table = "stock"
    column = "value"
    query = f"select sum({column}), count(*) from {table}"
    amount, rows = connection.execute(query).fetchone()
    return amount, rows


if __name__ == "__main__":
    connection, count = fill([("nuts", 5), ("figs", 9), ("tea", 1)])
    assert count == 3
    assert largest(connection, 2) == ["figs=9", "nuts=5"]
    assert total(connection) == (15, 3)
    connection.close()
    print(count)
