"""Indented by tabs, with blanks in odd places."""


def	spread( values ,factor=2 ) :
	key=[ ]
	total =0
	for	number in	range( len(values) ) :
		value = values [ number ]*factor
		if value>3 :
			key . append( value )
		else : total+=value
	result=( key,total )  # a comment	with a tab
	return result


def one_line(a,b): c=a+b; d=c*2; e=d-a; return e


def continued(first,
		second) :
	value = first \
		+ second
	longer = (value +
	 1)
	if value: pass
	while longer>100 : longer-=1
	answer = [ value,

		longer ]
	return answer


if __name__ == "__main__":
	assert spread([1, 2, 3]) == ([4, 6], 2)
	assert one_line(1, 2) == 5
	assert continued(1, 2) == [3, 4]
	print(spread([5]), one_line(0, 1))
